/**
 * Version constraints in the syntax of Terraform and OpenTofu: `>= 1.2, != 1.4.0`, `~> 2.1`. They mean what they mean
 * there; the ranges of npm are another language with the same signs.
 *
 * @see https://developer.hashicorp.com/terraform/language/expressions/version-constraints
 */
export { ConstraintError, parseConstraints } from './parse.ts'
export { selectVersions } from './select.ts'
