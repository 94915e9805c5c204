/** Ways that text has been taken for markup, in content and between quotes. */
export const attacks = [
  '<script>alert(1)</script>',
  '</script><script>alert(1)</script>',
  '</style><img src=x onerror=alert(1)>',
  '"><svg onload=alert(1)>',
  `' onmouseover='alert(1)`,
  '" autofocus onfocus="alert(1)',
  '</pre></td></table><iframe srcdoc="&lt;script&gt;alert(1)&lt;/script&gt;">',
  '<!--<img src="--><img src=x onerror=alert(1)//">',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '<a href="javascript:alert(1)">x</a>',
  '{{constructor.constructor("alert(1)")()}}',
  '<\u0000script>alert(1)</script>',
  '<ſcript>alert(1)</ſcript>',
  ']]><script>alert(1)</script>',
]
