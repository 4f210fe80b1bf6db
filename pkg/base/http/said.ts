import { jsonOf } from '../errors/errors.ts'

const maxCharacters = 300

/**
 * Reads what a server says about a refusal, for the log and the status that operators read: the code and message of its JSON
 * or XML, otherwise the text of its page. One line of at most 300 characters, without credentials and queries of URLs.
 */
export function saidBy(body: string): string {
  const text = inJson(body) ?? inXml(body) ?? body.replaceAll(pageParts, ' ')
  const plain = text
    .toWellFormed()
    .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
    .replaceAll(/\b(Bearer|Basic|Digest|AWS4-HMAC-SHA256)\s+[^\s"'<>]+/gi, '$1 ***')
    .replaceAll(/([?&][\w.-]+=)[^\s&"'<>]+/g, '$1***')
    .trim()
  const characters = Array.from(plain)
  return characters.length <= maxCharacters
    ? plain
    : `${characters.slice(0, maxCharacters - 1).join('')}…`
}

const pageParts = /<(script|style|title)\b[\s\S]*?<\/\1\s*>|<[^<>]*>/gi

/** `{"message"}` of GitHub, `{"errors": []}` of registries, `{"error": {"message"}}` of Google. */
function inJson(body: string): string | undefined {
  const { message, errors, error, error_description } = (jsonOf(body) ?? {}) as Partial<
    Record<string, unknown>
  >
  const nested = (error as { message?: unknown } | null | undefined)?.message
  const all = [
    message,
    ...(Array.isArray(errors) ? errors : []),
    nested ?? error,
    error_description,
  ]
  const said = all.filter((one) => typeof one === 'string')
  return said.length === 0 ? undefined : said.join(', ')
}

/** `<Error><Code>…</Code><Message>…</Message></Error>` of S3, Azure and Google. */
function inXml(body: string): string | undefined {
  return /<Message>([^<]*)<\/Message>/.exec(body)?.[1]
}
