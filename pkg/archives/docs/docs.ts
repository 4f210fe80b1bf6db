/**
 * Reads the documentation of a module from its files: inputs, outputs, providers, resources, module calls and READMEs, of
 * the root, of each folder in `modules` and of each in `examples`. Files are parsed, never evaluated. The documentation of
 * a provider is the Markdown of its release.
 */
export { parseCliConfig } from './cli-config.ts'
export { docsMarkdown, docsProblems, injectDocs, plainText, problemText } from './markdown.ts'
export { maxPagesBytes, PageCollector, unpackPage, unpackPages } from './pages-file.ts'
export * from './read-docs.ts'
export { openModuleDocs } from './read-docs.ts'
export { readUses, type Use } from './uses.ts'
