/**
 * How each action is reported: its sign, its verb before versions, and its words in a summary. In the order of a report.
 * `except`, `wait`, `skip` and `release` leave everything as it is.
 */
export const actions = {
  create: { sign: '+', verb: 'create', sum: 'to create' },
  change: { sign: '~', verb: 'change', sum: 'to change' },
  fetch: { sign: '+', verb: 'fetch', sum: 'to fetch' },
  return: { sign: '+', verb: 'take back from storage', sum: 'to take back' },
  restore: {
    sign: '~',
    verb: 'fetch again, because the archive is missing or altered in storage,',
    sum: 'to fetch again',
  },
  replace: { sign: '~', verb: 'replace, because upstream changed,', sum: 'to replace' },
  move: { sign: '~', verb: 'copy to the new storage', sum: 'to copy' },
  document: { sign: '~', verb: 'make the documentation again of', sum: 'to document' },
  remove: { sign: '-', verb: 'remove', sum: 'to remove' },
  release: { sign: '-', verb: 'release', sum: 'to release' },
  hold: { sign: '!', verb: '', sum: 'held' },
  except: { sign: '!', verb: 'let in despite the policy', sum: 'excepted' },
  wait: { sign: '?', verb: 'hold back', sum: 'held back' },
  drift: { sign: '!', verb: 'keep, although upstream changed,', sum: 'changed upstream' },
  skip: { sign: '?', verb: 'skip', sum: 'skipped' },
  fail: { sign: 'x', verb: '', sum: 'failed' },
} as const

export type Action = keyof typeof actions

export const actionOrder: readonly string[] = Object.keys(actions)
