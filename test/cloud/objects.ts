import { createHmac } from 'node:crypto';
import { realClock } from '@openstack-operator/kube';
import type { User } from './running-cloud.ts';

/** What object storage answered, and with which status. */
interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Asks for something of the user's account, or of a URL. */
export async function asked(
  user: User,
  method: 'get' | 'put' | 'post' | 'delete',
  path: string,
  options: object = {},
): Promise<Answer> {
  const more = { raise_exc: false, ...options };
  const { status, text } = await user.call<Answer>(`object_store.${method}`, path, more);
  return { status, text };
}

/** Seconds since the epoch, until which what is signed here is valid. */
const inFiveMinutes = () => Math.floor(realClock.now() / 1000) + 300;

/** A temporary URL by which an object of an account may be read. */
export function temporaryUrl(account: string, path: string, key: string): string {
  const expires = inFiveMinutes();
  const signed = `GET\n${expires}\n${new URL(account).pathname}${path}`;
  const sum = createHmac('sha256', key).update(signed).digest('hex');
  return `${account}${path}?temp_url_sig=${sum}&temp_url_expires=${expires}`;
}

/** Asks in the way of S3, with another secret than the user's where one is given. */
export type S3 = (method: 'get' | 'put', path: string, more?: object, secret?: string) => Promise<Answer>;

/** A client of S3 at the host of an account, with keys that it makes for the user (signatures of version 2, in the URL). */
export async function s3Of(user: User, account: string): Promise<S3> {
  const id = await user.call<string>('session.get_user_id');
  const project = await user.call<string>('session.get_project_id');
  const made = await user.call<{ text: string }>('identity.post', `/users/${id}/credentials/OS-EC2`, {
    json: { tenant_id: project },
  });
  const { credential } = JSON.parse(made.text) as { credential: { readonly access: string; readonly secret: string } };
  return async (method, path, more = {}, secret = credential.secret) => {
    const Expires = String(inFiveMinutes());
    const signed = `${method.toUpperCase()}\n\n\n${Expires}\n${path}`;
    const Signature = createHmac('sha1', secret).update(signed).digest('base64');
    const url = new URL(path, account);
    url.search = new URLSearchParams({ AWSAccessKeyId: credential.access, Expires, Signature }).toString();
    return await asked(user, method, url.href, { authenticated: false, ...more });
  };
}
