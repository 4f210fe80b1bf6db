import { Icon } from './icon.tsx'

interface Props<V extends string> {
  readonly label: string
  readonly value: string
  /** Value and words. The first is the default. A value that is not listed is added. */
  readonly options: readonly (readonly [value: V, words: string])[]
  /** Undefined in HTML that the server renders, where nothing listens yet. */
  readonly onChoose: ((value: V) => void) | undefined
  /** Whether any option except the first tints it. */
  readonly tinted?: boolean
  /** Whether the options are names of any length, which may arrive later than the page. */
  readonly names?: boolean
}

export function Pick<const V extends string>({
  label,
  value,
  options,
  onChoose,
  tinted = true,
  names = false,
}: Props<V>) {
  const isListed = options.some(([option]) => option === value)
  const on = tinted && value !== options[0]?.[0]
  return (
    <span class={`pick${on ? ' on' : ''}${names ? ' names' : ''}`} inert={onChoose === undefined}>
      <select
        class="field"
        aria-label={label}
        value={value}
        onChange={(event) => onChoose?.(event.currentTarget.value as V)}
      >
        {(isListed ? options : [...options, [value, value] as const]).map(([option, words]) => (
          <option key={option} value={option} selected={option === value}>
            {words}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </span>
  )
}

/** Options of names, after an option for all of them. */
export const nameOptions = (
  all: string,
  names: readonly string[],
): (readonly [value: string, words: string])[] => [
  ['', all],
  ...names.map((name) => [name, name] as const),
]
