/** Whether a text matches; made once, asked often. */
export type TextTest = (text: string) => boolean;
