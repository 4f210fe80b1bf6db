/** Why policies hold versions of upstreams back. */

/** It comes in by itself; or `deny`, `requireSignature`, the lack of a rule of `allow`, the expression of a rule, or `versionPolicy` of its module refuses it. */
export const heldWhys = [
  'TooYoung',
  'Denied',
  'Unsigned',
  'Breaking',
  'NotAllowed',
  'Refused',
] as const
export type HeldWhy = (typeof heldWhys)[number]

/** The reason of an entry. Older releases wrote it at the beginning of the message only. */
export function whyHeld({
  why,
  message,
}: {
  readonly why?: HeldWhy | undefined
  readonly message?: string | undefined
}): HeldWhy {
  if (why !== undefined) return why
  if (message === undefined) return 'TooYoung'
  if (message.startsWith('denied')) return 'Denied'
  return message.startsWith('not allowed') ? 'NotAllowed' : 'Refused'
}
