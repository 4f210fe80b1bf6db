import { rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'

const maxRounds = 20_000

/**
 * Repeats an attempt below the directory `vpc` of a mount, while that directory and a link to `outside` keep swapping places.
 * They swap at any moment of an attempt, and sometimes stay for a whole attempt, so every awaited outcome occurs on slow
 * machines too.
 *
 * @param options.rounds the minimum number of attempts
 * @param options.awaited outcomes to continue for
 * @returns all outcomes
 */
export async function outcomesWhileSwapped(
  mountPath: string,
  attempt: (round: number) => Promise<string>,
  { rounds, awaited }: { readonly rounds: number; readonly awaited: readonly string[] },
): Promise<ReadonlySet<string>> {
  const [vpc, evil] = [join(mountPath, 'vpc'), join(mountPath, 'evil')]
  await symlink('../outside', evil)
  const seen = new Set<string>()
  const progress = { round: 0, over: false }
  const swapping = swapAgainAndAgain()
  const isComplete = () => progress.round >= rounds && awaited.every((it) => seen.has(it))
  try {
    for (; progress.round < maxRounds && !isComplete(); progress.round += 1) {
      seen.add(await attempt(progress.round))
    }
  } finally {
    progress.over = true
    await swapping
  }
  return seen

  async function swapAgainAndAgain(): Promise<void> {
    for (let turn = 0; !progress.over; turn += 1) {
      const spare = join(mountPath, `spare-${turn}`)
      await move(vpc, spare)
      await move(evil, vpc)
      if (turn % 16 === 0) await rest()
      await move(vpc, evil)
      await move(spare, vpc)
      if (turn % 16 === 8) await rest()
    }
  }

  /** Waits until an attempt has begun and ended. */
  async function rest(): Promise<void> {
    const end = progress.round + 2
    while (!progress.over && progress.round < end) await setImmediate()
  }
}

/** Fails if the attempt has just created the directory again. */
const move = (from: string, to: string): Promise<void> => rename(from, to).catch(() => undefined)
