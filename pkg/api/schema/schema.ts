/** Fields that many schemas have. */

import * as z from 'zod'

export const optionalText = (meaning: string) => z.string().optional().describe(meaning)

export const optionalFlag = (meaning: string) => z.boolean().optional().describe(meaning)

/** Texts. */
export const optionalTexts = (meaning: string) => z.array(z.string()).optional().describe(meaning)
