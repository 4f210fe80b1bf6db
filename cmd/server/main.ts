import { server } from './server.ts'

await server(process.argv.slice(2))
