/**
 * The same text in one piece. One that was put together is kept as its parts, and whatever is written with it in it walks
 * through all of them again: what is written often is worth a copy.
 */
export const flat = (text: string): string => Buffer.from(text).toString()
