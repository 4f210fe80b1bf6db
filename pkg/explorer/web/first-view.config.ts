import { join } from 'node:path'
import { defineConfig } from 'vite'

/** What the explorer's server draws pages with, built beside the pages as one file without imports of packages. */
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
