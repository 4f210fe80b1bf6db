import { CopyButton } from './copy-button.tsx'
import { hclTokens, type Token, yamlTokens } from './hcl.ts'
import { useScrolls } from './use-scrolls.ts'

interface Props {
  readonly text: string
  /** Name of the code, such as `usage block`. */
  readonly what: string
  readonly hcl?: boolean
  readonly yaml?: boolean
}

const tones = { key: 'k', string: 'q', comment: 'n', field: 'ty', plain: '' }
/** Longer code is not coloured, because every token is an element. */
const longestColoured = 20_000

export function CodeBlock({ text, what, hcl = false, yaml = false }: Props) {
  const tokens = yaml ? yamlTokens : hcl ? hclTokens : undefined
  const { box, scrolls } = useScrolls<HTMLPreElement>()
  return (
    <div class="code">
      <pre ref={box} {...(scrolls && { tabIndex: 0, role: 'group', 'aria-label': what })}>
        {tokens && text.length <= longestColoured ? <Coloured tokens={tokens(text)} /> : text}
      </pre>
      <CopyButton text={text} what={what} look="small" />
    </div>
  )
}

const Coloured = ({ tokens }: { readonly tokens: readonly Token[] }) => (
  <>
    {tokens.map(({ kind, text: part }, at) =>
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
