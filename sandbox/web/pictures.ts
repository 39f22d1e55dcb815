import type { Api } from '../http/api.ts';

/** The pictures of accounts (`u`) and teams (`t`): a square in a colour of its own. */
export function pictures(api: Api): void {
  api.get('/avatars/:kind{[ut]}/:id{[0-9]+}', (c) => {
    const hue = (Number(c.req.param('id')) * 47) % 360;
    const square = `<rect width="48" height="48" fill="hsl(${hue} 45% 60%)"/>`;
    const picture = `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48">${square}</svg>`;
    return c.body(picture, 200, { 'content-type': 'image/svg+xml' });
  });
}
