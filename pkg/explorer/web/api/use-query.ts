import { keepPreviousData, QueryClient, QueryObserver } from '@tanstack/query-core'
import { useEffect, useRef, useState } from 'preact/hooks'
import { readPrime } from './boot.ts'
import { BrowseApiError, getJson, hasShape, messageOf } from './client.ts'

/** State of a region's request: its data, its last error, and whether it is running. */
export interface Query<T> {
  readonly data: T | undefined
  /** Error of the last request, if it failed. */
  readonly error: BrowseApiError | undefined
  readonly fetching: boolean
  /** When the data was fetched, in milliseconds since 1970. */
  readonly updatedAt: number
  /** Whether the data is that of the previous request, shown until the new answer arrives. */
  readonly previous: boolean
  readonly refetch: () => void
}

const freshMs = 30_000
/** How long until a page repeats a request that an unreachable registry did not answer. */
const againMs = 15_000

const mayBeTransient = (error: unknown): boolean => {
  if (!(error instanceof BrowseApiError) || error.retryAfterSeconds !== undefined) return false
  // After half a minute, people see the error instead of waiting for two more attempts.
  if (error.isLate) return false
  return error.status === undefined || [502, 503, 504].includes(error.status)
}

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: freshMs,
      gcTime: 10 * 60_000,
      networkMode: 'always',
      refetchOnWindowFocus: true,
      refetchOnReconnect: true,
      retry: (failures, error) => failures < 2 && mayBeTransient(error),
      retryDelay: (attempt) => 300 * 3 ** attempt,
      refetchInterval: ({ state }) => {
        const { error } = state
        const seconds = error instanceof BrowseApiError ? error.retryAfterSeconds : undefined
        if (seconds !== undefined) return seconds * 1000
        return error !== null && mayBeTransient(error) ? againMs : false
      },
    },
  },
})
client.mount()

const primedErrors = new Map<string, BrowseApiError>()

/** Starts from the answer in the page, which saves a request. */
export function startFromPrime(): void {
  const prime = readPrime()
  if (prime === undefined) return
  if (prime.status === 200 && hasShape(prime.key, prime.body))
    client.setQueryData([prime.key], prime.body)
  else if (prime.status !== 200)
    primedErrors.set(prime.key, new BrowseApiError(messageOf(prime.status, prime.body), prime))
}

/** Refreshes old answers on the page, so that a page that stays open is not outdated. */
export const refreshOld = (): void =>
  void client.refetchQueries({
    type: 'active',
    predicate: ({ state }) =>
      state.data !== undefined && state.dataUpdatedAt < Date.now() - freshMs,
  })

/** Drops all answers, as after signing out. */
export const forgetAnswers = (): void => client.clear()

/** @param url below `/-/api`; undefined to send no request */
export function useQuery<T>(url: string | undefined): Query<T> {
  const options = {
    queryKey: [url ?? ''],
    queryFn: async ({ signal }: { signal: AbortSignal }) => {
      const primed = primedErrors.get(url ?? '')
      primedErrors.delete(url ?? '')
      if (primed !== undefined) throw primed
      return getJson(url ?? '', signal)
    },
    enabled: url !== undefined,
    placeholderData: keepPreviousData,
  }
  const [observer] = useState(() => new QueryObserver(client, options))
  const [, redraw] = useState(0)
  const lastError = useRef<{ url: string | undefined; error: BrowseApiError | undefined }>(
    undefined,
  )
  useEffect(() => observer.subscribe(() => redraw((n) => n + 1)), [observer])
  useEffect(() => observer.setOptions(options), [observer, url])
  const result = observer.getOptimisticResult(client.defaultQueryOptions(options))
  if (lastError.current?.url !== url || (result.isSuccess && !result.isPlaceholderData)) {
    lastError.current = { url, error: undefined }
  }
  if (result.error !== null) lastError.current = { url, error: asApiError(result.error) }
  return {
    data: result.data as T | undefined,
    error: lastError.current?.error,
    fetching: result.isFetching,
    updatedAt: result.dataUpdatedAt,
    previous: result.isPlaceholderData,
    refetch: () => void observer.refetch(),
  }
}

const asApiError = (error: Error): BrowseApiError =>
  error instanceof BrowseApiError ? error : new BrowseApiError(error.message)
