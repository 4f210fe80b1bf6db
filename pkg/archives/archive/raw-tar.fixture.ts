/** A tar header, which may contain any lie, and its content. */
export interface RawTarEntry {
  readonly name: string | Buffer
  readonly content?: Buffer
  /** Default: the type of a file. */
  readonly type?: string
  readonly target?: string
  readonly sizeBytes?: number
  readonly magic?: string
  readonly breakSum?: boolean
}

const blockBytes = 512

/** @param end the bytes after the entries; default: the two empty blocks that end a tar */
export function rawTar(
  entries: readonly RawTarEntry[],
  end = Buffer.alloc(2 * blockBytes),
): Buffer {
  return Buffer.concat([...entries.flatMap(partsOf), end])
}

function partsOf(entry: RawTarEntry): Buffer[] {
  const {
    name,
    content = Buffer.alloc(0),
    type = '0',
    target = '',
    magic = 'ustar\u000000',
  } = entry
  const header = Buffer.alloc(blockBytes)
  Buffer.from(name).copy(header, 0, 0, 100)
  header.write('0000644\0', 100)
  const sizeBytes = entry.sizeBytes ?? content.length
  header.write(`${sizeBytes.toString(8).padStart(11, '0')}\0`, 124)
  header.write('00000000000\0', 136)
  header.write(type, 156)
  header.write(target, 157)
  header.write(magic, 257, 'latin1')
  header.fill(' ', 148, 156)
  const sum = header.reduce((total, byte) => total + byte, 0) + (entry.breakSum ? 1 : 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  const filling = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes)
  return [header, content, filling]
}

/** Attributes of the following entry. */
export function paxHeader(attributes: Readonly<Record<string, string>>): RawTarEntry {
  const lines = Object.entries(attributes).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`)
    const digits = String(rest + String(rest).length).length
    return `${rest + digits} ${key}=${value}\n`
  })
  return { name: 'PaxHeader', type: 'x', content: Buffer.from(lines.join('')) }
}
