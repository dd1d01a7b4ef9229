" Texts of XIR
autocmd BufRead,BufNewFile *.xir setfiletype xir
