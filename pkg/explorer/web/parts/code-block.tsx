import { CopyButton } from './copy-button.tsx'
import { hclTokens } from './hcl.ts'
import { useScrolls } from './use-scrolls.ts'

interface Props {
  readonly text: string
  /** Name of the code, such as `usage block`. */
  readonly what: string
  readonly hcl?: boolean
}

const tones = { key: 'k', string: 'q', comment: 'n', plain: '' }
/** Longer code is not coloured, because every token is an element. */
const longestColoured = 20_000

export function CodeBlock({ text, what, hcl = false }: Props) {
  const { box, scrolls } = useScrolls<HTMLPreElement>()
  return (
    <div class="code">
      <pre ref={box} {...(scrolls && { tabIndex: 0, role: 'group', 'aria-label': what })}>
        {hcl && text.length <= longestColoured ? <Coloured text={text} /> : text}
      </pre>
      <CopyButton text={text} what={what} look="small" />
    </div>
  )
}

const Coloured = ({ text }: { readonly text: string }) => (
  <>
    {hclTokens(text).map(({ kind, text: part }, at) =>
      kind === 'plain' ? (
        part
      ) : (
        <span key={at} class={tones[kind]}>
          {part}
        </span>
      ),
    )}
  </>
)
