import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Edit } from './edits.fixture.ts'
import type { World } from './world.fixture.ts'

/** A file that is missing for this long returns in time. */
const briefMs = 150

/** The object of a file that sync writes, such as `versions vpc-1-0-0`. Its status may be in a separate file. */
function named(file: string): string {
  const [kind = '', , name = ''] = file.replace(/(\.status)?\.yaml$/, '').split('/')
  return `${kind} ${name}`
}

/** Edits of files by editors, checkouts and people. @param dir the folder of manifests */
export function folderEdits(dir: string, aside: string): readonly Edit[] {
  const filesIn = () =>
    readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter(
      (file) => /^[^.].*\.yaml$/.test(file) && file !== 'mark.yaml',
    )
  const pickFile = (world: World) => world.random.pick(filesIn())
  const at = (file: string) => join(dir, file)
  const rewrite = (file: string, text: string) => {
    const before = readFileSync(at(file), 'utf8')
    writeFileSync(at(file), text)
    return async () => {
      // Anything that was written meanwhile is newer.
      if (filesIn().includes(file) && readFileSync(at(file), 'utf8') === text) {
        writeFileSync(at(file), before)
      }
    }
  }
  return [
    async (world) => {
      const file = pickFile(world)
      renameSync(at(file), join(aside, 'one.yaml'))
      await sleep(briefMs)
      renameSync(join(aside, 'one.yaml'), at(file))
      return { what: `${file} is missing for a moment` }
    },
    async (world) => {
      const all = filesIn().filter(() => world.random.chance(0.8))
      for (const [index, file] of all.entries()) renameSync(at(file), join(aside, `${index}.yaml`))
      await sleep(briefMs)
      for (const [index, file] of all.entries()) renameSync(join(aside, `${index}.yaml`), at(file))
      return { what: `${all.length} files are missing for a moment` }
    },
    async (world) => {
      const file = pickFile(world)
      const text = readFileSync(at(file), 'utf8')
      const undo = rewrite(file, text.slice(0, 1 + world.random.below(text.length)))
      // A part may be valid. Then it equals something that a person could have written.
      const ordered = [named(file)]
      return { what: `${file} is half-written`, undo, ordered }
    },
    async (world) => {
      const file = pickFile(world)
      const undo = rewrite(file, '')
      return { what: `${file} is empty`, undo }
    },
    async (world) => {
      const file = pickFile(world)
      const undo = rewrite(file, `${readFileSync(at(file), 'utf8')}\n  ]: {`)
      return { what: `${file} has a mistake`, undo }
    },
    async (world) => {
      const file = pickFile(world)
      const copy = `${world.random.pick(['a', 'z'])}-copy.yaml`
      // It may be the only file of an object by now.
      if (filesIn().includes(copy)) return undefined
      writeFileSync(at(copy), readFileSync(at(file)))
      // If the original is missing, the copy defines the object.
      const undo = async () => {
        if (filesIn().includes(file)) rmSync(at(copy), { force: true })
      }
      return { what: `${copy} is a copy of ${file}`, undo }
    },
    async (world) => {
      const statuses = filesIn().filter((file) => file.endsWith('.status.yaml'))
      if (statuses.length === 0) return undefined
      const file = world.random.pick(statuses)
      rmSync(at(file))
      return { what: `${file} is removed` }
    },
    async (world) => {
      const file = pickFile(world)
      const undo = rewrite(file, `# A comment.\n${readFileSync(at(file), 'utf8')}`)
      return { what: `${file} has a comment`, undo }
    },
    async (world) => {
      const own = filesIn().filter((file) => /^(versions|modules|providers)\//.test(file))
      if (own.length === 0) return undefined
      const file = world.random.pick(own)
      rmSync(at(file))
      const ordered = [named(file)]
      return { what: `a person removes ${file}`, ordered }
    },
  ]
}
