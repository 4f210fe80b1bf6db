import type { ListPage } from '../api/records.ts'
import { pageSizes } from '../url/search-params.ts'
import { number } from './format.ts'
import { Hidden, Icon } from './icon.tsx'
import { Void } from './message.tsx'
import { Pick } from './pick.tsx'

interface PageProps {
  /** The page that the server answered with. */
  readonly of: ListPage<unknown>
  readonly hrefOf: (page: number) => string
}

interface Props extends PageProps {
  /** Plural name of the items, such as `results`. */
  readonly what: string
  /** Undefined in HTML that the server renders, where nothing listens yet. */
  readonly onRows: ((rows: number) => void) | undefined
}

interface PagedProps extends Props {
  /** Replaces an empty list. */
  readonly empty: preact.ComponentChildren
  readonly children: preact.ComponentChildren
}

/** One page of a list, with links to the others. */
export const Paged = ({ empty, children, ...props }: PagedProps) => {
  const { items, totalCount } = props.of
  if (totalCount === 0) return <>{empty}</>
  if (items.length === 0) return <PastEnd {...props} />
  return (
    <>
      {children}
      <Pagination {...props} />
    </>
  )
}

const lastOf = ({ totalCount, pageSize }: PageProps['of']): number =>
  Math.max(1, Math.ceil(totalCount / pageSize))

/** Replaces a page that does not exist. */
const PastEnd = ({ of, hrefOf }: PageProps) => (
  <Void words={`There is no page ${number(of.page)}.`}>
    <a class="btn" href={hrefOf(lastOf(of))}>
      Go to the last page, {number(lastOf(of))}
    </a>
  </Void>
)

/** First, last, the current page and its neighbours. 0 marks a gap. */
export function pageNumbers(page: number, last: number): number[] {
  const wanted = [1, page - 1, page, page + 1, last]
  if (page <= 3) wanted.push(2, 3)
  const shown = [...new Set(wanted)].filter((it) => it >= 1 && it <= last).toSorted((a, b) => a - b)
  return shown.flatMap((it, at) => (it - (shown[at - 1] ?? it) > 1 ? [0, it] : [it]))
}

function Pagination({ what, of, hrefOf, onRows }: Props) {
  const { page, pageSize, totalCount: total } = of
  const last = lastOf(of)
  const first = (page - 1) * pageSize + 1
  const range = `${number(first)} to ${number(Math.min(total, page * pageSize))} of ${number(total)} ${what}`
  return (
    <div class="foot">
      <span>{range}</span>
      {total > 10 && (
        <Pick
          label={`Rows per page of ${what}`}
          value={String(pageSize)}
          options={pageSizes.map((size) => [String(size), `${size} rows`])}
          onChoose={onRows && ((rows) => onRows(Number(rows)))}
          tinted={false}
        />
      )}
      {(last > 1 || page > 1) && (
        <nav class="pages" aria-label={`Pages of ${what}`}>
          <Step to={page > 1 ? hrefOf(Math.min(page - 1, last)) : undefined}>
            <Icon name="left" />
            Previous
          </Step>
          {pageNumbers(page, last).map((it, at) =>
            it === 0 ? (
              <span key={`gap-${at}`} class="n" aria-hidden="true">
                …
              </span>
            ) : (
              <a
                key={it}
                class="btn bare n"
                href={hrefOf(it)}
                aria-current={it === page ? 'page' : undefined}
              >
                <Hidden>Page </Hidden>
                {number(it)}
              </a>
            ),
          )}
          <Step to={page < last ? hrefOf(page + 1) : undefined}>
            Next
            <Icon name="right" />
          </Step>
        </nav>
      )}
    </div>
  )
}

function Step(props: { readonly to: string | undefined; children: preact.ComponentChildren }) {
  return props.to === undefined ? (
    <a class="btn bare" role="link" aria-disabled="true">
      {props.children}
    </a>
  ) : (
    <a class="btn bare" href={props.to}>
      {props.children}
    </a>
  )
}
