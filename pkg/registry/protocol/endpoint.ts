import type { Context, Hono } from 'hono'
import { normalizeVersion, type ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import {
  after,
  get,
  note,
  type PlainRequest,
  ReadyAnswer,
  type RouteParameters,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import { requestOf } from '../auth/auth.ts'
import type { Parent } from '../catalog/catalog.ts'
import { absent } from './find.ts'
import type { RegistryOptions } from './options.ts'

type App = Context<ServingEnv>
type Answer = Response | ReadyAnswer
/** A request on either way to its answer: past the app, or through it. */
export type Asked = PlainRequest | App

/** The names of the parameters in a pattern. */
type Names<Route extends string> = Route extends `${string}:${infer Name}/${infer Rest}`
  ? Name | Names<Rest>
  : Route extends `${string}:${infer Name}`
    ? Name
    : never

/** One kind of question that CLIs ask. */
export interface Endpoint<Route extends string = string, Found = unknown> {
  /** Below the prefix of its protocol. */
  readonly route: Route
  /** The kind of the parent that the path names, which the caller has to be allowed to see. */
  readonly kind?: ParentKind
  /** Answers every caller, because CLIs send no credentials here. */
  readonly isOpen?: boolean
  /** Finds everything that the answer needs. @throws RegistryError for a request that cannot be answered */
  read(path: Record<Names<Route>, string>, parent: Parent | undefined, asked: Asked): Found
  /** The answer, if nothing has to be waited for. Neither throws nor counts. */
  ready?(found: Found): ReadyAnswer | undefined
  /** Any other answer. */
  answer?(found: Found, c: App): Answer | Promise<Answer>
}

/** Checks an endpoint, and drops the types of its parameters so that a list can have all of them. */
export function endpoint<Route extends string, Found>(
  definition: Endpoint<Route, Found>,
): Endpoint {
  return definition
}

/** The parent that a path names. */
export function parentOf({ catalog }: RegistryOptions, kind: ParentKind, path: RouteParameters) {
  return catalog.parentAt(kind, path['namespace'] ?? '', nameIn(path), path['system'])
}

export const nameIn = (path: RouteParameters): string => path['name'] ?? path['type'] ?? ''

/** Adds the route of an endpoint to the app. */
export function mount(
  app: Hono<ServingEnv>,
  prefix: string,
  mounted: Endpoint,
  options: RegistryOptions,
): void {
  const { kind, isOpen } = mounted
  get(app, prefix, mounted.route, (c: App) => {
    const path: RouteParameters = c.req.param()
    const parent = () => kind && parentOf(options, kind, path)
    const respond = (): Response | Promise<Response> => {
      const found = mounted.read(path, parent(), c)
      const answer = mounted.ready?.(found) ?? mounted.answer?.(found, c)
      return after(answer as Answer, toResponse)
    }
    if (kind === undefined) return respond()
    const { namespace = '', version } = path
    // Permissions are for the `metadata.name`, whatever name the address has.
    const name = parent()?.name ?? nameIn(path)
    note(c, { namespace, kind, name, ...(version && { version: normalizeVersion(version) }) })
    if (isOpen === true || options.auth === undefined) return respond()
    return after(options.auth.mayRead(requestOf(c), kind, namespace, name), (may) => {
      if (may) return respond()
      throw absent(kind, namespace, nameIn(path))
    })
  })
}

const toResponse = (answer: Answer): Response =>
  answer instanceof ReadyAnswer ? answer.toResponse() : answer
