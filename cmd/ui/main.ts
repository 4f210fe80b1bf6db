import { ui } from './ui.ts'

await ui(process.argv.slice(2))
