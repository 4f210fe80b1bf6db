import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Hono } from 'hono'
import { type ExplorerEnv, note } from './request.ts'

const types: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
}

/** Smaller ones do not get smaller. */
const leastBytes = 512

interface StaticFile {
  readonly path: string
  readonly type: string
  readonly plain: Buffer<ArrayBuffer>
  readonly packed: ReadonlyMap<string, Buffer<ArrayBuffer>>
}

/** What vite built, compressed and in memory: a few small files. */
export interface StaticFiles {
  /** The page, without the data of a request. */
  readonly page: string
  /** Paths of the style sheets that the page has. */
  readonly stylesheets: readonly string[]
  readonly routes: Hono<ExplorerEnv>
}

/** @param dist where `make ui` builds the pages. @throws Error where they are not built */
export function readStaticFiles(dist: string): StaticFiles {
  const page = readPage(dist)
  const files = globSync('**/*.*', { cwd: dist })
    .filter((path) => path !== 'index.html' && !path.endsWith('.map'))
    .map((path) => readStatic(dist, path))
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

function readStatic(dist: string, path: string): StaticFile {
  const plain = readFileSync(join(dist, path))
  const packed = new Map<string, Buffer<ArrayBuffer>>()
  const file = { path: `/${path}`, type: types[extname(path)] ?? 'application/octet-stream' }
  if (plain.length >= leastBytes && extname(path) !== '.png') void pack(plain, packed)
  return { ...file, plain, packed }
}

/** Beside the first requests, so that the start need not wait. */
async function pack(plain: Buffer, packed: Map<string, Buffer>): Promise<void> {
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length }
  packed.set('gzip', await promisify(gzip)(plain, { level: 9 }))
  packed.set('br', await promisify(brotliCompress)(plain, { params }))
}

function serve(routes: Hono<ExplorerEnv>, { path, type, plain, packed }: StaticFile): void {
  const isHashed = path.startsWith('/-/assets/')
  routes.get(path, (c) => {
    note(c, isHashed ? '/-/assets/*' : path)
    const accepted = (c.req.header('accept-encoding') ?? '').split(',').map((it) => it.trim())
    const encoding = ['br', 'gzip'].find((name) => accepted.includes(name) && packed.has(name))
    return c.body((encoding && packed.get(encoding)) || plain, 200, {
      'Content-Type': type,
      'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      Vary: 'Accept-Encoding',
      ...(encoding && { 'Content-Encoding': encoding }),
    })
  })
}
