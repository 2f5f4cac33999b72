import type { Cloud } from './cloud.ts';

/** What a browser sees of an answer. */
export interface Page {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: string;
}

/** Somebody with a browser, which keeps cookies: in a pod of the cloud. */
export class Browser {
  readonly #cloud: Cloud;
  readonly #url: string;
  readonly #cookies: Record<string, string> = {};

  constructor(cloud: Cloud, url: string) {
    this.#cloud = cloud;
    this.#url = url;
  }

  /** With a body, as a form. */
  async open(path: string, options: { body?: string; host?: string; origin?: string } = {}): Promise<Page> {
    const { body, host, origin } = options;
    const cookies = Object.entries(this.#cookies).map(([name, value]) => `${name}=${value}`);
    const headers = Object.entries({ cookie: cookies.join('; '), host, origin }).flatMap(([name, value]) =>
      value === undefined || value === '' ? [] : ['-H', `${name}: ${value}`],
    );
    const data = body === undefined ? [] : ['-X', 'POST', '-d', body];
    const answer = await this.#curl(['-i', ...headers, ...data, `${this.#url}${path}`]);
    const [head = '', text = ''] = answer.split(/\r?\n\r?\n/);
    const [, name = '', value = ''] = /set-cookie: *(\w+)=([^;\s]*)/iu.exec(head) ?? [];
    if (name !== '') this.#cookies[name] = value;
    const [, status] = /^HTTP\S+ (\d+)/u.exec(head) ?? [];
    const [, location] = /^location: *(\S+)/imu.exec(head) ?? [];
    return { status: Number(status), location, body: text };
  }

  /** Fills in the form of a page as the administrator, by the password of the cloud's Secret unless another is given. */
  login(page: string, password = this.#password()): Promise<Page> {
    const [, token = ''] = /name="csrfmiddlewaretoken" value="([^"]*)"/u.exec(page) ?? [];
    const form = new URLSearchParams({ csrfmiddlewaretoken: token, username: 'admin', password, region: 'default' });
    return this.open('/auth/login/', { body: form.toString() });
  }

  #password(): string {
    const secret = this.#cloud.get('Secret', 'my-cloud-keystone-admin-password');
    const { password = '' } = (secret?.['data'] ?? {}) as { password?: string };
    return Buffer.from(password, 'base64').toString();
  }

  async #curl(argv: readonly string[]): Promise<string> {
    const pod = this.#cloud.list('Pod').find(({ metadata }) => metadata.name.startsWith('my-cloud-keystone-api-'));
    const ref = { namespace: 'openstack', name: pod?.metadata.name ?? '' };
    return (await this.#cloud.settle(this.#cloud.rehearsal.sandbox.pods.exec(ref, ['curl', '-s', ...argv]))).stdout;
  }
}
