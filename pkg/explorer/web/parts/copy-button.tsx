import { useEffect, useState } from 'preact/hooks'
import { Hidden, Icon } from './icon.tsx'

export const notCopied = 'The browser did not allow copying. Select the text and copy it.'

/** @returns false if the browser does not allow it */
export async function copyText(text: string): Promise<boolean> {
  try {
    // Browsers have no clipboard on http pages of other machines.
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

type Outcome = 'none' | 'copied' | 'failed'

interface Props {
  /** A function that makes a long text when it is copied. */
  readonly text: string | (() => string)
  /** Name of the copied text, shown after the word Copy. */
  readonly what: string
  /** `icon` shows no words, `small` shows only the word Copy. */
  readonly look?: 'icon' | 'small' | 'words' | 'main'
  readonly icon?: string
}

const words = { none: 'Copy', copied: 'Copied', failed: 'Not copied' }

export function CopyButton({ text, what, look = 'icon', icon = 'copy' }: Props) {
  const [outcome, setOutcome] = useState<Outcome>('none')
  useEffect(() => {
    if (outcome === 'none') return undefined
    const timer = setTimeout(() => setOutcome('none'), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = async (): Promise<void> => {
    const isCopied = await copyText(typeof text === 'string' ? text : text())
    setOutcome(isCopied ? 'copied' : 'failed')
    announce(isCopied ? 'Copied' : notCopied)
  }
  const drawn = outcome === 'none' ? icon : outcome === 'copied' ? 'check' : 'fail'
  const shape = { icon: 'bare small icon', small: 'small', words: '', main: 'main' }[look]
  return (
    <button
      type="button"
      class={`btn copy ${shape}`}
      onClick={() => void copy()}
      title={`Copy ${what}`}
    >
      <Icon name={drawn} />
      {look === 'icon' ? (
        <Hidden>Copy {what}</Hidden>
      ) : look === 'main' || look === 'words' ? (
        <span class="t">{outcome === 'none' ? `Copy ${what}` : words[outcome]}</span>
      ) : (
        <>
          <span class="t">{words[outcome]}</span>
          <Hidden> {what}</Hidden>
        </>
      )}
    </button>
  )
}

/** Announces a short message to screen readers in the live region of the page. */
function announce(text: string): void {
  const region = document.getElementById('announcements')
  if (region === null) return
  region.textContent = ''
  requestAnimationFrame(() => {
    region.textContent = text
  })
}
