import * as z from 'zod'
import * as rules from './rules.ts'

/** Plugin protocol versions. */
export const Protocols = z.array(z.string().meta(rules.ruled([rules.protocol], { maxLength: 16 })))
