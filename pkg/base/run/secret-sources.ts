/**
 * Adds Secret and key to each file or variable in a message, for people who wrote the Secret and read the log of a pod.
 *
 * @param sources `NAME SECRET KEY` with commas between, where NAME is a variable or a path; without KEY it is a folder that
 *   has a file for each key
 */
export function withSecretSources(message: string, sources = ''): string {
  const found = sources.split(',').flatMap((source) => {
    const [name = '', secret, key] = source.trim().split(' ')
    if (secret === undefined) return []
    if (key !== undefined) return message.includes(name) ? [sentence(name, secret, key)] : []
    const files = message.split(`${name}/`).slice(1).map(firstWord)
    return [...new Set(files)].map((file) => sentence(`${name}/${file}`, secret, file))
  })
  return found.length === 0 ? message : `${message} (${found.join('; ')})`
}

const firstWord = (text: string): string => /^[\w.-]*\w/.exec(text)?.[0] ?? ''

const sentence = (name: string, secret: string, key: string): string =>
  `${name} is the key ${key} of the Secret ${secret}`
