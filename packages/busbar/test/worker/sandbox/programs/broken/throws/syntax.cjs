const b = ;
