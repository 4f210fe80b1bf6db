import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { extract } from 'tar-stream'

/*
 * `node hack/image/size.ts ARCHIVE...`: fails if an image exceeds its size limit. Node itself is 51 MiB compressed
 * and 127 MiB unpacked. An archive with `-git` in its name may have git and its libraries too, one with
 * `-scanning` Trivy.
 */

const mib = 2 ** 20
function limitsOf(archive: string) {
  const name = basename(archive)
  if (name.includes('-scanning')) return { compressed: 110 * mib, unpacked: 340 * mib }
  if (name.includes('-git')) return { compressed: 70 * mib, unpacked: 190 * mib }
  return { compressed: 60 * mib, unpacked: 160 * mib }
}

/** Adds up the layers of an archive as `docker save` writes it. */
async function sizesOf(archive: string): Promise<{ compressed: number; unpacked: number }> {
  const sizes = { compressed: 0, unpacked: 0 }
  const layers = extract()
  layers.on('entry', (header, stream, next) => {
    if (header.type !== 'file' || !header.name.endsWith('.tar')) {
      stream.resume().on('end', next)
      return
    }
    sizes.unpacked += header.size ?? 0
    const zipped = stream.pipe(createGzip({ level: 6 }))
    zipped.on('data', (chunk: Buffer) => {
      sizes.compressed += chunk.length
    })
    zipped.on('end', next)
  })
  await pipeline(createReadStream(archive), layers)
  return sizes
}

const archives = process.argv.slice(2)
if (archives.length === 0) {
  console.error('usage: node hack/image/size.ts ARCHIVE...')
  process.exit(2)
}
for (const archive of archives) {
  const { compressed, unpacked } = await sizesOf(archive)
  const sizes = `${(compressed / mib).toFixed(1)} MiB compressed, ${(unpacked / mib).toFixed(1)} MiB unpacked`
  console.log(`${archive}: ${sizes}`)
  const limits = limitsOf(archive)
  if (compressed > limits.compressed || unpacked > limits.unpacked) {
    console.error(
      `depot: ${archive} is too large; at most ${limits.compressed / mib} MiB compressed and ${limits.unpacked / mib} MiB unpacked`,
    )
    process.exitCode = 1
  }
}
