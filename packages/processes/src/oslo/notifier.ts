import { Messaging } from './messaging.ts';
import type { ServiceContext } from './service-context.ts';

/** What a service reads of a notification: the payload; the event is the name of the method. */
export interface Notification {
  readonly payload: unknown;
  /** Of the service that sent it. */
  readonly publisher: string;
}

/**
 * The broker that notifications go through: that of `[oslo_messaging_notifications]`, or the one of RPC.
 * @throws PythonError as `Messaging`
 */
export function notificationTransport(context: ServiceContext): Messaging {
  return new Messaging(context, context.config.optional('oslo_messaging_notifications', 'transport_url'));
}

/**
 * Sends a notification to every topic of the options, to whoever reads it; a broker that is away is waited for.
 * @throws PythonError for an URL that oslo.messaging refuses
 */
export function notify(context: ServiceContext, event: string, payload: unknown): void {
  const { config } = context;
  const [driver = 'noop'] = config.all('oslo_messaging_notifications', 'driver');
  if (driver === 'noop') return;
  const notification: Notification = { payload, publisher: config.project };
  const transport = notificationTransport(context);
  for (const topic of config.list('oslo_messaging_notifications', 'topics'))
    transport.cast(`${topic}.info`, event, notification);
}
