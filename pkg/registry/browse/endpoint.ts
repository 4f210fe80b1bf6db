import type { z } from 'zod'
import type { View } from '../catalog/catalog.ts'
import type { AnswerSources } from './sources.ts'

/** A request whose parameters were validated. */
export interface BrowseAsked<Q, P> extends AnswerSources {
  /** The part of the catalog that the caller may see. */
  readonly view: View
  readonly query: Q
  readonly path: P
}

/** The body of an answer, and how to check later whether it is current. */
export interface Composed {
  readonly body: string
  /** Counts changes of the data behind the body. Default: the body is outdated at once. */
  readonly revision?: () => number
  /** The revision before the data was read. Default: the current one. */
  readonly madeAt?: number
}

/** One kind of question that callers ask: how it is parsed, documented and answered. */
export interface BrowseEndpoint<
  Q extends z.ZodObject = z.ZodObject,
  P extends z.ZodObject = z.ZodObject,
> {
  /** Below the prefix, with `{parameters}`. */
  readonly route: string
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly path: P
  readonly query: Q
  readonly response: z.ZodType
  /** Default: JSON. */
  readonly contentType?: string
  /** An answer. */
  readonly example: unknown
  /** Example of the message if something does not exist, or the caller may not see it. Default: that of a resource. */
  readonly notFound?: string
  /** Whether only callers who may write Versions of the resource get an answer. */
  readonly isForWriters?: true
  /** Work that an answer waits for, and that may fail it. Default: none, everything is in memory. */
  readonly waitsFor?: 'storage' | 'counts'
  answer(asked: BrowseAsked<z.output<Q>, z.output<P>>): Composed | Promise<Composed>
}

/** Checks an endpoint, and erases the types of its parameters so that all endpoints fit into one list. */
export function endpoint<Q extends z.ZodObject, P extends z.ZodObject>(
  definition: BrowseEndpoint<Q, P>,
): BrowseEndpoint {
  return definition
}
