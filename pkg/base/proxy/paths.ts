import { badRequest } from '../errors/errors.ts'

/** Maximum number of decodings of a path: no server decodes more than twice. */
const maxDecodings = 4
/** `.`, `/` and `\` written with more bytes than they need, which some servers accept. */
const overlong: readonly (readonly [RegExp, string])[] = [
  [/\xc0\xae|\xe0\x80\xae/g, '.'],
  [/\xc0\xaf|\xe0\x80\xaf/g, '/'],
  [/\xc1\x9c|\xe0\x81\x9c/g, '\\'],
]

/**
 * Refuses paths that the other server could read differently: `..` in any spelling, and control characters.
 *
 * @param path with or without a query, which is not checked
 * @throws RegistryError BadRequest
 */
export function checkPath(path: string): void {
  let text = path.replace(/[?#].*$/s, '')
  for (let round = 0; round <= maxDecodings; round += 1) {
    checkReading(text)
    const decoded = decodedOnce(text)
    if (decoded === text) return
    text = decoded
  }
  throw badRequest('the path is encoded too many times: encode it once')
}

function checkReading(text: string): void {
  if (/\p{Cc}/u.test(text.replace(/[\x80-\x9f]/g, ''))) {
    throw badRequest('the path has a control character: leave it out')
  }
  for (const segment of text.split(/[/\\]/)) {
    const [name = ''] = segment.split(';')
    if (/^\s*\.{1,2}\s*$/.test(name)) {
      throw badRequest('the path has a segment of dots: write the path that is meant')
    }
  }
}

/** Decodes byte by byte; text that is not an escape stays. */
function decodedOnce(text: string): string {
  const decoded = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return overlong.reduce((reading, [form, character]) => reading.replace(form, character), decoded)
}
