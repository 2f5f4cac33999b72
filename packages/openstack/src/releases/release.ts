/** One OpenStack release as data. */
export interface Release {
  /** Such as `2025.1`. */
  readonly name: string;
  /** Such as `epoxy`. */
  readonly series: string;
  /** Where its images are published by default. */
  readonly registry: string;
  readonly tag: string;
  /** Releases from which it can be reached directly: the one before it, and the SLURP before that. */
  readonly from: readonly string[];
}
