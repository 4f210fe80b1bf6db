import { useEffect, useState } from 'preact/hooks'
import type { ResourceDetail, SearchResults } from '../api/records.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { number, plural } from '../parts/format.ts'
import { detailUrl, isSearched, searchUrl } from '../url/pages.ts'
import { type FoundResource, type Group, hitsFor } from './palette-hits.ts'
import { pastedSource } from './pasted.ts'

const waitMs = 120

export interface Suggestions extends Pick<Query<SearchResults>, 'error' | 'refetch'> {
  /** Text to search: as typed, or the address in the pasted text. */
  readonly text: string
  /** The text of the last search. */
  readonly asked: string
  readonly groups: readonly Group[]
  /** Number of results in words; empty until it is known. */
  readonly count: string
  readonly isEmpty: boolean
  /** Whether the registry lacks the pasted address. */
  readonly isAbsent: boolean
}

/** Searches when the person stops typing. @param block the last pasted text, with its lines */
export function useSuggestions(typed: string, block: string): Suggestions {
  const [asked, setAsked] = useState('')
  const source = pastedSource(typed)
  const text = source?.address ?? typed.trim()
  useEffect(() => {
    const timer = setTimeout(() => setAsked(text.slice(0, 253)), waitMs)
    return () => clearTimeout(timer)
  }, [text])
  const isAsked = isSearched(asked) && isSearched(text)
  const found = useQuery<SearchResults>(isAsked ? searchUrl(asked) : undefined)
  const error = isAsked ? found.error : undefined
  const results = isAsked && error === undefined ? found.data : undefined
  const current = found.previous ? undefined : results
  const isEmpty = current?.items.length === 0
  const item = results?.items.find(
    ({ namespace, address }) => `${namespace}/${address}` === source?.address,
  )
  const { data: detail } = useQuery<ResourceDetail>(item && detailUrl(item, ''))
  const isPasted = block !== '' && joined(block) === joined(typed)
  const groups = hitsFor({
    typed: text,
    found: results?.items ?? [],
    pasted: item && {
      item,
      version: source?.version,
      folder: source?.folder,
      block: isPasted ? block : undefined,
      detail: ownDetail(detail, item),
    },
    allPages: isEmpty || error !== undefined,
  })
  const isLookedFor = source !== undefined && current !== undefined && asked === text
  return {
    text,
    asked,
    groups,
    count: current === undefined || isEmpty ? '' : counted(current),
    error,
    refetch: found.refetch,
    isEmpty,
    isAbsent: isLookedFor && item === undefined,
  }
}

/** A field has one line and drops the line breaks of a pasted text. */
const joined = (text: string): string => text.replaceAll(/\s+/g, '')

/** The answer of an earlier request is shown until the next one arrives. */
const ownDetail = (detail: ResourceDetail | undefined, item: FoundResource) =>
  detail?.namespace === item.namespace && detail.address === item.address ? detail : undefined

/** Results may be missing if the words match too much. */
const counted = ({ items, totalCount, isTruncated }: SearchResults): string =>
  totalCount > items.length || isTruncated === true
    ? `${items.length} of ${isTruncated === true ? 'more than ' : ''}${number(totalCount)}`
    : plural(totalCount, 'result')
