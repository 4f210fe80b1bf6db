import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** Pages without the app, for tests of the explorer's server that need no build. @returns the folder */
export function writeBarePages(dist: string): string {
  mkdirSync(join(dist, '-/assets'), { recursive: true })
  writeFileSync(
    join(dist, 'index.html'),
    '<!doctype html><html lang="en"><head><link rel="stylesheet" crossorigin href="/-/assets/main-abc.css"></head><body></body></html>',
  )
  const styles = 'body { margin: 0 }\n'.repeat(100)
  writeFileSync(join(dist, '-/assets/main-abc.css'), styles)
  writeFileSync(join(dist, '-/assets/main-abc.css.br'), brotliCompressSync(styles))
  writeFileSync(join(dist, '-/assets/main-abc.css.gz'), gzipSync(styles))
  writeFileSync(join(dist, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  return dist
}

/** The JSON that the server put into a page, by the id of its element; undefined if there is none. */
export function dataOf(html: string, id: 'boot' | 'prime'): unknown {
  const block = new RegExp(`<script type="application/json" id="${id}"[^>]*>([^<]*)</script>`)
  const text = block.exec(html)?.[1]
  return text === undefined ? undefined : JSON.parse(text)
}
