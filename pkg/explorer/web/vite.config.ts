import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'

/** Puts icons.svg into the page, so that an icon is a `<use>` and needs no request. */
function inlineIcons(): Plugin {
  const icons = readFileSync(join(import.meta.dirname, 'icons.svg'), 'utf8').trim()
  return {
    name: 'inline-icons',
    transformIndexHtml: (html) => html.replace('<!--icons-->', icons.replaceAll(/\n\s*/g, '')),
  }
}

/**
 * Puts scripts after the styles with low priority, because readers need the styles first and see the page before the app
 * starts. The page still names every file of the app, so that browsers load all of them at once.
 */
function stylesFirst(): Plugin {
  return {
    name: 'styles-first',
    transformIndexHtml: {
      order: 'post',
      handler: (html, { bundle = {} }) => {
        const script = /^.*<script type="module".*\n/m.exec(html)?.[0] ?? ''
        const preloads = Object.keys(bundle)
          .filter((name) => /\/(?:app|rolldown-runtime)-[^/]*\.js$/.test(name))
          .map((name) => `  <link rel="modulepreload" crossorigin href="/${name}">\n`)
        const late = [script, ...preloads]
          .join('')
          .replaceAll(' crossorigin', ' crossorigin fetchpriority="low"')
        return html.replace(script, '').replace('</head>', () => `${late}</head>`)
      },
    },
  }
}

/** Compressing smaller files is not worth it. */
const leastBytes = 512

/** Writes a compressed copy of every file, so that no process has to compress it. */
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
  plugins: [inlineIcons(), stylesFirst(), compressed()],
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
    // The page names the files that are needed early. Every other page is one file.
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // Compressing takes longest, which is intended.
      checks: { bundlerTimings: false },
      output: {
        // The code that every page needs is one file, instead of a dozen small ones that wait for each other.
        codeSplitting: {
          groups: [
            // Otherwise, the code that waits for the first paint would load the app.
            { name: 'index', test: /preload-helper|web\/main\.tsx/, priority: 2 },
            { name: 'readme', test: /resource\/readme\/|node_modules\/(?:mdast|micromark|unist)/ },
            {
              name: 'app',
              // A group takes what its modules import. Otherwise, code that pages share would be in the README's file.
              priority: 1,
              test: /web\/(?:start|(?:parts|shell|url|api|resources)\/)|node_modules\/(?:preact|@tanstack)\//,
            },
          ],
        },
      },
    },
  },
})
