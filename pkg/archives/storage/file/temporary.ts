/** Name of a file that is being written; no archive is ever called so. */
export const temporaryName = (id: string): string => `.depot-${id}.part`

export const temporaryPattern = /^\.depot-[0-9a-f-]{36}\.part$/
