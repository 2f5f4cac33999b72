import { bool, type Infer, int, map, object, required, scheduleOf, string } from './schema.ts';

/** One field of a schedule: `*`, numbers and ranges of them, each with a step, separated by commas. */
const field = (number: string) => {
  const part = `(\\*|${number}(-${number})?)(/[1-9][0-9]?)?`;
  return `${part}(,${part})*`;
};

const form = {
  pattern: `^${[
    field('[0-5]?[0-9]'),
    field('([01]?[0-9]|2[0-3])'),
    field('(0?[1-9]|[12][0-9]|3[01])'),
    field('(0?[1-9]|1[0-2])'),
    field('[0-6]'),
  ].join(' ')}$`,
  expected: 'five fields of cron, such as 30 2 * * *: minute, hour, day of the month, month, day of the week',
};

/** When something runs; `otherwise`: when it does where nobody says so. */
export const schedule = (otherwise: string) =>
  scheduleOf(
    string('When it runs, in UTC: minute, hour, day of the month, month, day of the week, as a CronJob has them.', {
      maxLength: 128,
      form,
      otherwise,
    }),
  );

/** Whether something does not run. */
export const suspend = bool('Whether it is suspended. A run in progress is not stopped.', { fallback: false });

/** A number of days. */
export const days = (what: string, fallback: number) => int(what, { minimum: 1, maximum: 3650, fallback });

/** When generated passwords are rotated without a request. */
export const passwordRotationDays = int(
  'Days after which a generated password of the database, the broker or Keystone is replaced by another one, without a failed request. If absent, only the annotation openstack.k8s.io/rotate-at has them replaced.',
  { minimum: 1, maximum: 3650 },
);

/** How often what a service has outside of Kubernetes is corrected. */
export const recordsAudit = object(
  'Schedule on which the records of the service are compared and repaired: databases, users and grants in the database server, virtual hosts in the broker, users, roles and endpoints in Keystone. It is suspended while the resource is paused.',
  { schedule: schedule('every hour, at a minute that follows from the name'), suspend },
);

/** Status of what runs on a schedule. */
export const schedules = map(
  'CronJobs, by name without that of the resource, such as records-audit.',
  object('One schedule.', {
    lastScheduleTime: string('When it was started last.', { maxLength: 64, format: 'date-time' }),
    lastSuccessfulTime: string('When it succeeded last.', { maxLength: 64, format: 'date-time' }),
    lastFinishedTime: string('When it ended last, successfully or not.', { maxLength: 64, format: 'date-time' }),
    failures: required(
      int('How often it has failed since it succeeded last, up to the number of failed Jobs that are kept.', {
        minimum: 0,
        maximum: 100,
      }),
    ),
    message: string('What the last run repaired, or why it failed; suspended while none is started.', {
      maxLength: 4096,
    }),
  }),
  { maxProperties: 16 },
);

export type RecordsAuditSpec = Infer<typeof recordsAudit>;
export type ScheduleStatus = Infer<typeof schedules>[string];
