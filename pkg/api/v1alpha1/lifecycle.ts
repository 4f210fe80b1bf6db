import * as z from 'zod'
import {
  constraintLengths,
  constraintSyntax,
  maxConstraintLength,
} from '../constraint/constraint.ts'
import { oneOf, optionalList, optionalText } from '../schema/schema.ts'
import * as rules from './rules.ts'

const Note = {
  message: optionalText('Reason, for people and CLIs.', { maxLength: 1024 }),
  replacedBy: optionalText('Version or address to use instead.', { maxLength: 256 }),
  link: optionalText('Page that explains it.', rules.patterned(rules.httpsUrl, 1024)),
}

/** `spec.lifecycle` of a Version. */
export const VersionLifecycle = z
  .object({
    state: oneOf(
      ['Active', 'Deprecated', 'Yanked', 'Quarantined'],
      'State of this version. `Active` makes an exception to a rule of its parent.',
    ),
    ...Note,
  })
  .describe(
    'State of this version, before the rules of its parent. Quarantined always takes precedence.',
  )

const LifecycleRule = z.object({
  versions: z
    .string()
    // An object with a mistake here is refused as a whole: a rule must neither release what it withdrew, nor withdraw everything.
    .regex(
      constraintSyntax,
      'must be a version constraint that is not empty, such as "< 2.0.0" or "1.4.2"',
    )
    .refine((text) => constraintLengths.test(text) && text.length <= maxConstraintLength, {
      message: `must have at most ${maxConstraintLength} characters, and at most 252 between commas`,
    })
    .meta({
      description: 'Constraint on the versions, such as `>= 1.2.0, < 1.2.4`.',
      allOf: [{ pattern: constraintLengths.source }],
      maxLength: maxConstraintLength,
    }),
  state: oneOf(
    ['Deprecated', 'Yanked', 'Quarantined'],
    'Deprecated: served with a warning. Yanked: downloadable, and listed only while a newer active version of the same minor version exists. Quarantined: not served.',
  ),
  ...Note,
})

/** In the spec of a Module or Provider. */
export const Lifecycle = {
  lifecycle: optionalList(
    LifecycleRule,
    'States of versions. The first rule that matches decides, except that Quarantined wins.',
    { maxItems: 100 },
  ),
}

/** The state of a Version that its status reports. */
export const EffectiveLifecycle = z
  .object({
    state: oneOf(['Deprecated', 'Yanked', 'Quarantined'], 'State of this version.'),
    message: optionalText('Why.'),
    replacedBy: optionalText('Version or address to use instead.'),
    link: optionalText('Page that explains it.'),
    since: optionalText('Time when it came into this state, RFC 3339.'),
  })
  .describe('State by its spec, the rules of its parent, and policies. Absent if it is active.')
