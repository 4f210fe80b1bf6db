import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Puts icons.svg into the page, so that an icon is a `<use>` and no request. */
function inlineIcons(): Plugin {
  const icons = readFileSync(join(import.meta.dirname, 'icons.svg'), 'utf8').trim()
  return {
    name: 'inline-icons',
    transformIndexHtml: (html) => html.replace('<!--icons-->', icons.replaceAll(/\n\s*/g, '')),
  }
}

/** Asks for the app along with the page, although it starts after the first paint. */
function preloadApp(): Plugin {
  return {
    name: 'preload-app',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {} }) =>
        Object.keys(bundle)
          .filter((name) => /\/(?:app|start)-[^/]*\.js$/.test(name))
          .map((name) => ({
            tag: 'link',
            attrs: { rel: 'modulepreload', crossorigin: true, href: `/${name}` },
            injectTo: 'head',
          })),
    },
  }
}

/** Smaller files do not get smaller. */
const leastBytes = 512

/** Writes every file compressed as well, so that no process has to do it. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => /\.(?:js|css|svg)$/.test(name))
      await Promise.all(names.map((name) => compress(join(dir, name))))
    },
  }
}

async function compress(file: string): Promise<void> {
  const plain = await readFile(file)
  if (plain.length < leastBytes) return
  await Promise.all([
    promisify(brotliCompress)(plain).then((packed) => writeFile(`${file}.br`, packed)),
    promisify(gzip)(plain, { level: 9 }).then((packed) => writeFile(`${file}.gz`, packed)),
  ])
}

/** The browser's half of the explorer, built into pkg/explorer/dist. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [inlineIcons(), preloadApp(), compressed()],
  resolve: {
    alias: {
      'decode-named-character-reference': join(import.meta.dirname, 'resource/readme/entities.ts'),
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    assetsDir: '-/assets',
    assetsInlineLimit: 0,
    target: 'es2024',
    // What is wanted early is named in the page; the rest is one file each.
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // That compressing takes longest is known.
      checks: { bundlerTimings: false },
      output: {
        // What every page needs is one file, not a dozen small ones that wait for each other.
        codeSplitting: {
          groups: [
            // Else what waits for the first paint would load the app to do so.
            { name: 'index', test: /preload-helper|web\/main\.tsx/, priority: 1 },
            {
              name: 'app',
              test: /web\/(?:start|(?:parts|shell|url|api|resources)\/)|node_modules\/(?:preact|@tanstack)\//,
            },
          ],
        },
      },
    },
  },
})
