import { controller } from './controller.ts'

await controller(process.argv.slice(2))
