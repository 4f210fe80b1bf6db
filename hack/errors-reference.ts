import { mayPass, type Reason, reasonTopics } from '../pkg/base/errors/errors.ts'
import { errorMessages } from './error-messages.ts'

type Topic = keyof typeof reasonTopics

/** Each topic of the table of reasons: its heading, and what it is about. */
const topics: Record<Topic, readonly [heading: string, about: string]> = {
  answers: [
    'Answers',
    'Errors of the registry, the browse API and the explorer. Clients get `{"errors": ["message"]}` with the status. The log line of the request has the reason as `err.reason`.',
  ],
  callers: [
    'Callers',
    'Why a caller is refused. The log line of the request has the reason as `err.reason`, and `depot_auth_requests_total` counts it.',
  ],
  signIns: [
    'Sign-in to the explorer',
    'After a failed sign-in, a page explains the reason. `depot_ui_logins_total` counts it as `result`.',
  ],
  objects: [
    'Objects that are not served',
    '`depot_catalog_rejected_objects` and `depot_catalog_conflicts` count them. The log names the object.',
  ],
  cluster: [
    'API server',
    'Why a watch, a list or a write ended. Depot tries again by itself. `depot_watch_restarts_total`, `depot_watch_relists_total` and `depot_watch_decode_errors_total` count the reasons.',
  ],
  transfers: [
    'Archives and download counts',
    'Why an archive was not sent completely, or a download was not counted. `depot_archive_aborts_total`, `depot_storage_errors_total` and `depot_download_events_dropped_total` count the reasons.',
  ],
  expressions: ['Expressions', 'Mistakes in the expression of a GroupBinding.'],
  upstreams: [
    'Upstreams',
    'Why Depot cannot fetch from an upstream. The conditions of the resource have the reason.',
  ],
  publishing: ['Publishing', 'Why `depot publish` refuses a version.'],
  archives: [
    'Refused archives',
    'Why Depot does not store an archive. The conditions of the Version have the reason.',
  ],
  sync: ['Conditions and events', 'Other reasons of the conditions and events of resources.'],
}

/** The page on every reason of an error, a condition or an event. */
export function errorsReference(notice: string): string {
  const sections = (Object.keys(topics) as Topic[]).flatMap((topic) => [
    `## ${topics[topic][0]}`,
    '',
    topics[topic][1],
    '',
    ...tableOf(topic),
    '',
  ])
  return [
    `<!-- ${notice} -->`,
    '# Errors',
    '',
    'This page lists every reason in answers, conditions, events, log lines and metrics. **Retry** says whether the same',
    'request or step can succeed later: `yes` if it helps to wait, `no` if somebody has to change something first.',
    '',
    ...sections,
    '## Messages',
    '',
    'These are the messages that clients can see. A real message has a value in place of a word in braces, such as `{name}`.',
    '',
    '| reason | message |',
    '| --- | --- |',
    ...errorMessages().map(({ reason, text }) => `| \`${reason}\` | ${escaped(text)} |`),
    '',
  ].join('\n')
}

function tableOf(topic: Topic): string[] {
  const hasStatus = topic === 'answers' || topic === 'callers'
  const rows = Object.entries(reasonTopics[topic]).map(([reason, [reaction, text]]) => {
    const [, meaning = '', remedy = ''] = /^(.*?\.)(?: (.*))?$/.exec(text) ?? []
    const retry = reaction === 'fine' ? '' : mayPass(reason as Reason) ? 'yes' : 'no'
    return [`\`${reason}\``, ...(hasStatus ? [reaction] : []), retry, meaning, remedy]
  })
  const heads = ['reason', ...(hasStatus ? ['status'] : []), 'retry', 'meaning', 'what to do']
  return [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}

const escaped = (text: string): string =>
  text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
