import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Puts icons.svg into the page, so that an icon is a `<use>` and no request. */
function inlineIcons(): Plugin {
  const icons = readFileSync(join(import.meta.dirname, 'icons.svg'), 'utf8').trim()
  return {
    name: 'inline-icons',
    transformIndexHtml: (html) => html.replace('<!--icons-->', icons.replaceAll(/\n\s*/g, '')),
  }
}

/** Smaller files do not get smaller. */
const leastBytes = 512

/** Writes every file compressed as well, so that no process has to do it. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    writeBundle({ dir = '' }, bundle) {
      for (const name of Object.keys(bundle)) {
        if (!/\.(?:js|css|svg)$/.test(name)) continue
        const plain = readFileSync(join(dir, name))
        if (plain.length < leastBytes) continue
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(plain))
        writeFileSync(join(dir, `${name}.gz`), gzipSync(plain, { level: 9 }))
      }
    },
  }
}

/** The browser's half of the explorer, built into pkg/explorer/dist. */
export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  plugins: [inlineIcons(), compressed()],
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
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // What every page needs is one file, not a dozen small ones that wait for each other.
        codeSplitting: {
          groups: [
            {
              name: 'app',
              test: /web\/(?:parts|shell|url|api|resources)\/|node_modules\/(?:preact|@tanstack)\//,
            },
          ],
        },
      },
    },
  },
})
