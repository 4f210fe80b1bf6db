import { crc32, deflateRawSync } from 'node:zlib'

/** The values in the headers of an entry. */
interface Said {
  name?: string | Buffer
  flags?: number
  method?: number
  crc?: number
  packedBytes?: number
  sizeBytes?: number
  offset?: number
  mode?: number
  extra?: Buffer
}

export interface RawEntry {
  readonly name: string | Buffer
  readonly content?: Buffer
  /** Default: 8. */
  readonly method?: 0 | 8
  readonly both?: Said
  readonly local?: Said
  readonly central?: Said
  /** Bytes after the data. */
  readonly after?: Buffer
  /** Replaces the data. */
  readonly data?: Buffer
  /** Omits the local header, as if two entries shared it. */
  readonly centralOnly?: boolean
}

interface RawEnd {
  readonly before?: Buffer
  readonly gap?: Buffer
  readonly behindDirectory?: Buffer
  readonly after?: Buffer
  readonly count?: number
  readonly directoryBytes?: number
  readonly offset?: number
}

/** Writes a zip byte by byte, so that it may contain any lie. */
export function rawZip(entries: readonly RawEntry[], end: RawEnd = {}): Buffer {
  const locals: Buffer[] = [end.before ?? Buffer.alloc(0)]
  const centrals: Buffer[] = []
  let offset = locals[0]?.length ?? 0
  for (const entry of entries) {
    const { content = Buffer.from('x'), method = 8 } = entry
    const data = entry.data ?? (method === 8 ? deflateRawSync(content) : content)
    const truth = {
      name: entry.name,
      flags: 0x800,
      method,
      crc: crc32(content),
      packedBytes: data.length,
      sizeBytes: content.length,
      offset,
      mode: 0o100644,
      extra: Buffer.alloc(0),
      ...entry.both,
    }
    centrals.push(central({ ...truth, ...entry.central }))
    if (entry.centralOnly) continue
    const local = Buffer.concat([
      localHeader({ ...truth, ...entry.local }),
      data,
      entry.after ?? Buffer.alloc(0),
    ])
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(centrals)
  const start = offset + (end.gap?.length ?? 0)
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(end.count ?? entries.length, 8)
  record.writeUInt16LE(end.count ?? entries.length, 10)
  record.writeUInt32LE(end.directoryBytes ?? directory.length, 12)
  record.writeUInt32LE(end.offset ?? start, 16)
  const parts = [...locals, end.gap, directory, end.behindDirectory, record, end.after]
  return Buffer.concat(parts.filter((part) => part !== undefined))
}

function localHeader(said: Required<Said>): Buffer {
  const name = Buffer.from(said.name)
  const header = Buffer.alloc(30)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(20, 4)
  common(header, said, 6)
  header.writeUInt16LE(name.length, 26)
  header.writeUInt16LE(said.extra.length, 28)
  return Buffer.concat([header, name, said.extra])
}

function central(said: Required<Said>): Buffer {
  const name = Buffer.from(said.name)
  const header = Buffer.alloc(46)
  header.writeUInt32LE(0x02014b50, 0)
  header.writeUInt16LE((3 << 8) | 20, 4)
  header.writeUInt16LE(20, 6)
  common(header, said, 8)
  header.writeUInt16LE(name.length, 28)
  header.writeUInt16LE(said.extra.length, 30)
  header.writeUInt32LE((said.mode << 16) >>> 0, 38)
  header.writeUInt32LE(said.offset, 42)
  return Buffer.concat([header, name, said.extra])
}

function common(header: Buffer, said: Required<Said>, at: number): void {
  header.writeUInt16LE(said.flags, at)
  header.writeUInt16LE(said.method, at + 2)
  header.writeUInt16LE(0x21, at + 6)
  header.writeUInt32LE(said.crc, at + 8)
  header.writeUInt32LE(said.packedBytes, at + 12)
  header.writeUInt32LE(said.sizeBytes, at + 16)
}

/** The record after data whose size was not known before. */
export function descriptor(content: Buffer, { signed = true, large = false } = {}): Buffer {
  const packedBytes = deflateRawSync(content).length
  const bytes = Buffer.alloc(large ? 20 : 12)
  bytes.writeUInt32LE(crc32(content), 0)
  if (large) {
    bytes.writeBigUInt64LE(BigInt(packedBytes), 4)
    bytes.writeBigUInt64LE(BigInt(content.length), 12)
  } else {
    bytes.writeUInt32LE(packedBytes, 4)
    bytes.writeUInt32LE(content.length, 8)
  }
  return signed ? Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), bytes]) : bytes
}
