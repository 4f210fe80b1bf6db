import { sync } from './sync.ts'

await sync(process.argv.slice(2))
