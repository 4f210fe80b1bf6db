import { useEffect, useState } from 'preact/hooks'
import { announce } from './announce.ts'
import { Hidden, Icon } from './icon.tsx'

type Outcome = 'none' | 'copied' | 'failed'

interface Props {
  /** A function makes a long text when it is copied. */
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
    try {
      await navigator.clipboard.writeText(typeof text === 'string' ? text : text())
      setOutcome('copied')
      announce('Copied')
    } catch {
      setOutcome('failed')
      announce('The browser did not allow copying. Select the text and copy it.')
    }
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
