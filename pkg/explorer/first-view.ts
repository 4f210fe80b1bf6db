import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Logger } from '../base/telemetry/telemetry.ts'

/**
 * Renders the list of resources as HTML, which the page shows until the app renders the same.
 *
 * @param search of the page's URL
 * @param answer of the API to the page's first request
 * @returns the content of `<main>`; undefined if the answer has no list or rendering fails
 */
export type FirstView = (search: URLSearchParams, answer: unknown) => Promise<string | undefined>

type Draw = (search: URLSearchParams, answer: unknown) => string | undefined

/** @param dist folder with the components that `make ui` built for Node. Without them, pages begin with a skeleton. */
export function readFirstView(dist: string, log: Logger): FirstView {
  const file = join(dist, 'first-view.mjs')
  const loading: Promise<{ drawFirstView?: Draw }> = existsSync(file)
    ? import(pathToFileURL(file).href)
    : Promise.resolve({})
  // The first page that needs it reports the error.
  loading.catch(() => undefined)
  return async (search, answer) => {
    try {
      return (await loading).drawFirstView?.(search, answer)
    } catch (error) {
      log.warn({ err: error }, 'the first view of a page cannot be drawn')
      return undefined
    }
  }
}
