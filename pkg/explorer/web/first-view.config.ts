import { join } from 'node:path'
import { defineConfig } from 'vite'

/** Builds the components that the explorer's server renders pages with, as one file that imports no packages. */
export default defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  ssr: { noExternal: true },
  build: {
    ssr: join(import.meta.dirname, 'first-view.tsx'),
    outDir: '../dist',
    emptyOutDir: false,
    minify: true,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: { entryFileNames: 'first-view.mjs' },
    },
  },
})
