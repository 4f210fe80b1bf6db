import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { Hono } from 'hono'
import { encodingsIn } from './headers.ts'
import { type ExplorerEnv, note } from './request.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}

/** Content encodings in order of preference, with the file name endings of the build. */
const encodings = { br: '.br', gzip: '.gz' } as const

interface StaticFile {
  readonly path: string
  readonly type: string
  readonly plain: Buffer<ArrayBuffer>
  /** By content encoding. */
  readonly packed: ReadonlyMap<string, Buffer<ArrayBuffer>>
}

/** The files that vite built, in memory, because they are few and small. */
export interface StaticFiles {
  /** The page, without the data of a request. */
  readonly page: string
  /** Paths of the style sheets of the page. */
  readonly stylesheets: readonly string[]
  readonly routes: Hono<ExplorerEnv>
}

/** @param dist the folder that `make ui` builds. @throws Error if the pages are not built */
export function readStaticFiles(dist: string): StaticFiles {
  const page = readPage(dist)
  const paths = globSync('**/*.*', { cwd: dist })
  const isPacked = (path: string): boolean => /\.(?:br|gz)$/.test(path)
  const files = paths
    .filter((path) => path !== 'index.html' && !/\.(?:map|mjs)$/.test(path) && !isPacked(path))
    .map((path) => readStatic(dist, path, new Set(paths)))
  const routes = new Hono<ExplorerEnv>()
  for (const file of files) serve(routes, file)
  const stylesheets = Array.from(
    page.matchAll(/<link rel="stylesheet"[^>]* href="([^"]+)"/g),
    ([, href = '']) => href,
  )
  return { page, stylesheets, routes }
}

function readPage(dist: string): string {
  try {
    return readFileSync(join(dist, 'index.html'), 'utf8')
  } catch (cause) {
    throw new Error(`the pages are not built in ${dist}: run \`make ui\``, { cause })
  }
}

function readStatic(dist: string, path: string, all: ReadonlySet<string>): StaticFile {
  const packed = Object.entries(encodings).flatMap(([encoding, ending]) =>
    all.has(path + ending) ? [[encoding, readFileSync(join(dist, path + ending))] as const] : [],
  )
  return {
    path: `/${path}`,
    type: types[extname(path)] ?? 'application/octet-stream',
    plain: readFileSync(join(dist, path)),
    packed: new Map(packed),
  }
}

function serve(routes: Hono<ExplorerEnv>, { path, type, plain, packed }: StaticFile): void {
  const isHashed = path.startsWith('/-/assets/')
  routes.get(path, (c) => {
    note(c, isHashed ? '/-/assets/*' : path)
    const accepted = encodingsIn(c.req.header('accept-encoding'))
    const encoding = [...packed.keys()].find((name) => accepted.includes(name))
    return c.body((encoding && packed.get(encoding)) || plain, 200, {
      'Content-Type': type,
      'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      Vary: 'Accept-Encoding',
      ...(encoding && { 'Content-Encoding': encoding }),
    })
  })
}
