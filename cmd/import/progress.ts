import { printable } from '../../pkg/base/errors/errors.ts'
import { statusLine, type TextOutput } from '../../pkg/base/run/run.ts'
import type { ImportEvent, ImportResult } from '../../pkg/fill/importing/importing.ts'

/** Tells a person how far an import is. */
interface Progress {
  readonly event: (event: ImportEvent) => void
  readonly end: (result: ImportResult) => void
  readonly stopped: () => void
}

/** The first lines of a message say enough. */
const maxLineBytes = 2_000

/**
 * Draws one progress line on a terminal, with failures above it. Anywhere else it prints a line for each archive.
 *
 * @param terminalType value of TERM
 */
export function createProgress(
  output: TextOutput,
  { sources, dryRun }: { readonly sources: number; readonly dryRun: boolean },
  terminalType = process.env['TERM'],
): Progress {
  const line = statusLine(output, terminalType)
  let listed = 0
  let waitingUntilMs = 0
  let total = 0
  let done = 0
  let toCorrect = 0
  // The upstream chooses names of files and versions.
  const print = (text: string) => line.print(printable(text, maxLineBytes))
  const draw = (text: string) => {
    const among = listed < sources ? `${listed} of ${sources} sources, ` : ''
    line.draw(printable(`${among}${done} of ${total} archives ${text}`))
  }

  return {
    event(event) {
      if (event.kind === 'listed') {
        total += event.count
        listed += 1
        draw('')
        return
      }
      if (event.kind === 'waiting') {
        // Many archives wait for the same host.
        const untilMs = Date.now() + event.ms
        if (untilMs < waitingUntilMs + 1_000) return
        waitingUntilMs = untilMs
        print(`waiting ${Math.ceil(event.ms / 1000)} s: ${event.message}`)
        return
      }
      if (event.kind === 'skipped') {
        print(`skipped ${event.what}: ${event.message}`)
        return
      }
      const { label, outcome, message, sizeBytes, mayPass } = event
      done += 1
      if (outcome === 'failed') {
        if (mayPass !== true) toCorrect += 1
        print(`failed ${label}: ${message ?? ''}`)
      } else if (outcome === 'planned') print(`would import ${label}`)
      else if (!line.isTerminal) {
        print(outcome === 'present' ? `present ${label}` : `stored ${label} (${sizeOf(sizeBytes)})`)
      }
      draw(label)
    },
    end({ stored, present, planned, failed }) {
      const again = 'run the same command again'
      const remedy = toCorrect > 0 ? `correct what they name, then ${again}` : `${again} to go on`
      const parts = [
        dryRun ? `${planned} to import` : `${stored} stored`,
        `${present} already there`,
        failed > 0 && `${failed} failed; ${remedy}`,
      ]
      print(parts.filter((part) => part !== false).join(', '))
    },
    stopped: () => print('stopped; run the same command again to go on'),
  }
}

function sizeOf(bytes = 0): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
