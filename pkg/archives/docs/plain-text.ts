/**
 * Makes a result safe for a terminal: escapes controls, and marks that hide or reverse text, as JSON would. JSON itself does
 * not escape all of them.
 */
export const plainText = (text: string): string =>
  text.replaceAll(/[^\P{C}\n]|[\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) =>
      escaped(character.charCodeAt(index)),
    ).join(''),
  )

const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
