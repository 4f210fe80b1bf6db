/** Fields that many schemas have. */

import * as z from 'zod'

/** Keywords of JSON Schema, beside the description. */
type Keywords = Readonly<Record<string, unknown>>

export const text = (meaning: string, more: Keywords = {}) =>
  z.string().meta({ description: meaning, ...more })

export const optionalText = (meaning: string, more: Keywords = {}) =>
  z
    .string()
    .optional()
    .meta({ description: meaning, ...more })

/** A text that is not empty. */
export const someText = (meaning: string, maxLength: number) =>
  z.string().min(1).meta({ description: meaning, maxLength })

export const flag = (meaning: string) => z.boolean().describe(meaning)

export const optionalFlag = (meaning: string) => z.boolean().optional().describe(meaning)

export const count = (meaning: string) => z.int().min(0).describe(meaning)

export const optionalCount = (meaning: string) => z.int().min(0).optional().describe(meaning)

/** One of several words. */
export const oneOf = <const T extends readonly string[]>(words: T, meaning: string) =>
  z.enum(words).describe(meaning)

export const optionalOneOf = <const T extends readonly string[]>(words: T, meaning: string) =>
  z.enum(words).optional().describe(meaning)

export const list = <T extends z.ZodType>(items: T, meaning: string) =>
  z.array(items).describe(meaning)

export const optionalList = <T extends z.ZodType>(items: T, meaning: string, more: Keywords = {}) =>
  z
    .array(items)
    .optional()
    .meta({ description: meaning, ...more })

export const optionalTexts = (meaning: string) => optionalList(z.string(), meaning)
