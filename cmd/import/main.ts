import { importArchives } from './import.ts'

await importArchives(process.argv.slice(2))
