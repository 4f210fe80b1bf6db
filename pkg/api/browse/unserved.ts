import * as z from 'zod'
import { heldWhys } from '../held/held.ts'
import { list, oneOf, optionalList, optionalText, text } from '../schema/schema.ts'
import {
  component,
  kind,
  moment,
  name,
  page,
  tally,
  unservedReasons,
  why,
  whyNot,
} from './parts.ts'

export const BrowseConflict = component('Conflict', {
  ...why,
  kind: kind.describe('Of the resource, and of the resource of a version.'),
  namespace: name,
  name: name.describe('Of the object.'),
  resource: name
    .optional()
    .describe('Name of the module or provider; absent if a version has none.'),
  address: optionalText('The address that it asks for, after the namespace.'),
  version: optionalText('Absent for modules and providers.'),
  os: optionalText('Providers only.'),
  arch: optionalText('Providers only.'),
})
export type BrowseConflict = z.infer<typeof BrowseConflict>

export const ConflictList = component('ConflictList', {
  items: z.array(BrowseConflict),
  ...page,
  counts: list(
    z.strictObject({ reason: z.enum(unservedReasons), count: tally }),
    'By reason, whatever the filter by reason and the page.',
  ),
})
export type ConflictList = z.infer<typeof ConflictList>

export const HeldBackItem = component('HeldBackItem', {
  why: oneOf(
    heldWhys,
    'TooYoung: it comes in by itself. Denied, Unsigned, Breaking, NotAllowed, Refused: a rule of deny, requireSignature, versionPolicy of its module, the lack of a rule of allow, the expression.',
  ),
  message: text('What the policy says and what to do, as the end of a sentence.'),
  kind,
  namespace: name,
  name: name.describe('Of the module or provider.'),
  version: text('As its upstream spells it.'),
  address: text('Host and path of its source, as exceptions name it.'),
  depot: optionalText('The Depot with the policy, as `namespace/name`.'),
  by: z
    .literal('Installation')
    .optional()
    .describe('Present if the policy of the whole installation holds it.'),
  since: moment.optional().describe('From when its age counts, or since when it is refused.'),
  publishedAt: moment
    .optional()
    .describe('When it was published, as the host of its address says; absent if it is refused.'),
  until: moment.optional().describe('When it is free; absent if it is refused.'),
  askedFor: tally.describe('Refused requests for it since this server started.'),
  except: z
    .strictObject({
      manifest: text('The lines of the Depot, as YAML.'),
      command: text('The same for a cluster.'),
    })
    .optional()
    .describe(
      'How those who may change the Depot except the version. Absent if an exception of the Depot does not let it in, or if the caller does not see the Depot.',
    ),
})
export type HeldBackItem = z.infer<typeof HeldBackItem>

export const HeldBackList = component('HeldBackList', {
  items: z.array(HeldBackItem),
  ...page,
  unlisted: tally.describe(
    'How many more are held, whatever the filters: the status of a resource lists the first thousand.',
  ),
  depots: list(z.string(), 'The Depots whose policies hold something back, whatever the filters.'),
})
export type HeldBackList = z.infer<typeof HeldBackList>

export const Explanation = component('Explanation', {
  address: text('As asked.'),
  claims: list(
    z.strictObject({
      kind,
      namespace: name,
      name,
      address: text('Under which it is served, after the namespace.'),
      ...whyNot,
    }),
    'Modules and providers that ask for the address; the one without reason has it.',
  ),
  versions: optionalList(
    z.strictObject({
      kind,
      namespace: name,
      name: name.describe('Of the Version.'),
      resource: name.optional().describe('Absent if it has none.'),
      version: z.string(),
      os: z.string().optional(),
      arch: z.string().optional(),
      ...whyNot,
    }),
    'Versions of that number; the ones without reason are served.',
  ),
})
export type Explanation = z.infer<typeof Explanation>
