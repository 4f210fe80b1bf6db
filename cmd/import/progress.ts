import { printable } from '../../pkg/base/errors/errors.ts'
import { statusLine, type TextOutput } from '../../pkg/base/run/run.ts'
import type { ImportEvent, ImportResult } from '../../pkg/fill/importing/importing.ts'

/** Longer messages are cut. */
const maxLineBytes = 2_000

/** Draws one progress line on a terminal, with failures above it. Anywhere else it prints a line for each archive. */
export class Progress {
  readonly #line: ReturnType<typeof statusLine>
  readonly #sources: number
  readonly #dryRun: boolean
  #listed = 0
  #waitingUntilMs = 0
  #total = 0
  #done = 0
  /** Failures that a person has to correct. */
  #toCorrect = 0

  /** @param terminalType value of TERM */
  constructor(
    output: TextOutput,
    { sources, dryRun }: { readonly sources: number; readonly dryRun: boolean },
    terminalType = process.env['TERM'],
  ) {
    this.#line = statusLine(output, terminalType)
    this.#sources = sources
    this.#dryRun = dryRun
  }

  event(event: ImportEvent): void {
    if (event.kind === 'listed') {
      this.#total += event.count
      this.#listed += 1
      this.#draw('')
      return
    }
    if (event.kind === 'waiting') {
      // Many archives wait for the same host, so they share a line.
      const untilMs = Date.now() + event.ms
      if (untilMs < this.#waitingUntilMs + 1_000) return
      this.#waitingUntilMs = untilMs
      this.#print(`waiting ${Math.ceil(event.ms / 1000)} s: ${event.message}`)
      return
    }
    if (event.kind === 'skipped') {
      this.#print(`skipped ${event.what}: ${event.message}`)
      return
    }
    const { label, outcome, message, sizeBytes, mayPass } = event
    this.#done += 1
    if (outcome === 'failed') {
      if (mayPass !== true) this.#toCorrect += 1
      this.#print(`failed ${label}: ${message ?? ''}`)
    } else if (outcome === 'planned') this.#print(`would import ${label}`)
    else if (!this.#line.isTerminal) {
      const stored = `stored ${label} (${sizeOf(sizeBytes)})`
      this.#print(outcome === 'present' ? `present ${label}` : stored)
    }
    this.#draw(label)
  }

  end({ stored, present, planned, failed }: ImportResult): void {
    const again = 'run the same command again'
    const isWrong = this.#toCorrect > 0
    const remedy = isWrong ? `correct what they name, then ${again}` : `${again} to go on`
    const parts = [
      this.#dryRun ? `${planned} to import` : `${stored} stored`,
      `${present} already there`,
      failed > 0 && `${failed} failed; ${remedy}`,
    ]
    this.#print(parts.filter((part) => part !== false).join(', '))
  }

  stopped(): void {
    this.#print('stopped; run the same command again to go on')
  }

  /** Prints a line. The upstream chooses names of files and versions. */
  #print(text: string): void {
    this.#line.print(printable(text, maxLineBytes))
  }

  #draw(text: string): void {
    const isListing = this.#listed < this.#sources
    const among = isListing ? `${this.#listed} of ${this.#sources} sources, ` : ''
    this.#line.draw(printable(`${among}${this.#done} of ${this.#total} archives ${text}`))
  }
}

function sizeOf(bytes = 0): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}
