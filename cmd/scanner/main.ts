import { scanner } from './scanner.ts'

await scanner(process.argv.slice(2))
